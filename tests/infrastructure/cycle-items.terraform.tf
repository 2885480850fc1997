resource "aws_dynamodb_table" "example_api_table" {
  name = "example-api-table"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "pk"
  range_key = "sk"

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  attribute {
    name = "selector"
    type = "S"
  }

  attribute {
    name = "data"
    type = "S"
  }

  global_secondary_index {
    name = "CycleSelector"
    hash_key = "selector"
    range_key = "data"
    projection_type = "ALL"
  }
}
