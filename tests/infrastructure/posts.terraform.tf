resource "aws_dynamodb_table" "data" {
  name         = "data"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "PK"
  range_key    = "SK"

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "status"
    type = "S"
  }

  attribute {
    name = "createdAt"
    type = "S"
  }

  global_secondary_index {
    name            = "GS1"
    hash_key        = "status"
    range_key       = "createdAt"
    projection_type = "ALL"
  }
}
