resource "aws_dynamodb_table" "orders" {
  name = "orders"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "PK"
  range_key = "SK"

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "otherPk"
    type = "S"
  }

  attribute {
    name = "otherSk"
    type = "S"
  }

  global_secondary_index {
    name = "byOther"
    hash_key = "otherPk"
    range_key = "otherSk"
    projection_type = "ALL"
  }
}
