resource "aws_dynamodb_table" "editions" {
  name = "editions"
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
    name = "year"
    type = "S"
  }

  global_secondary_index {
    name = "byYear"
    hash_key = "year"
    range_key = "sk"
    projection_type = "ALL"
  }
}
