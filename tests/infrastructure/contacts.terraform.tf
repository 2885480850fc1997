resource "aws_dynamodb_table" "contacts" {
  name = "contacts"
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
    name = "site"
    type = "S"
  }

  attribute {
    name = "seen"
    type = "N"
  }

  global_secondary_index {
    name = "bySeen"
    hash_key = "site"
    range_key = "seen"
    projection_type = "ALL"
  }
}
