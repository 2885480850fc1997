resource "aws_dynamodb_table" "workshop" {
  name = "workshop"
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
    name = "board"
    type = "S"
  }

  attribute {
    name = "points"
    type = "N"
  }

  attribute {
    name = "GSI-1"
    type = "S"
  }

  attribute {
    name = "GSI-1-SK"
    type = "S"
  }

  attribute {
    name = "award"
    type = "S"
  }

  attribute {
    name = "rank"
    type = "S"
  }

  global_secondary_index {
    name = "byScore"
    hash_key = "board"
    range_key = "points"
    projection_type = "INCLUDE"
    non_key_attributes = ["player", "expires"]
  }

  global_secondary_index {
    name = "selector"
    hash_key = "GSI-1"
    range_key = "GSI-1-SK"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "awards"
    hash_key = "award"
    projection_type = "KEYS_ONLY"
  }

  local_secondary_index {
    name = "byRank"
    range_key = "rank"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "expires"
    enabled = true
  }
}

resource "aws_dynamodb_table" "serials" {
  name = "serials"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "number"

  attribute {
    name = "number"
    type = "N"
  }
}
