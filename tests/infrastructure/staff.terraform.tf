resource "aws_dynamodb_table" "staff" {
  name = "staff"
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
    name = "dayPk"
    type = "S"
  }

  attribute {
    name = "day"
    type = "S"
  }

  global_secondary_index {
    name = "byDay"
    hash_key = "dayPk"
    range_key = "day"
    projection_type = "ALL"
  }
}
