resource "aws_dynamodb_table" "practice" {
  name = "practice"
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
    name = "gsi1pk"
    type = "S"
  }

  attribute {
    name = "gsi1sk"
    type = "S"
  }

  attribute {
    name = "gsi2pk"
    type = "S"
  }

  attribute {
    name = "gsi2sk"
    type = "N"
  }

  global_secondary_index {
    name = "byDay"
    hash_key = "gsi1pk"
    range_key = "gsi1sk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "byNumber"
    hash_key = "gsi2pk"
    range_key = "gsi2sk"
    projection_type = "ALL"
  }
}
