resource "aws_dynamodb_table" "timeline" {
  name = "timeline"
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
    name = "circle"
    type = "S"
  }

  attribute {
    name = "at"
    type = "S"
  }

  attribute {
    name = "board"
    type = "S"
  }

  attribute {
    name = "rank"
    type = "N"
  }

  global_secondary_index {
    name = "byCircle"
    hash_key = "circle"
    range_key = "at"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "byBoard"
    hash_key = "board"
    range_key = "rank"
    projection_type = "KEYS_ONLY"
  }
}
