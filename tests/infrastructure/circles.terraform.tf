resource "aws_dynamodb_table" "circles" {
  name = "circles"
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
    name = "circle"
    type = "S"
  }

  attribute {
    name = "joined"
    type = "S"
  }

  global_secondary_index {
    name = "byCircle"
    hash_key = "circle"
    range_key = "joined"
    projection_type = "KEYS_ONLY"
  }
}
