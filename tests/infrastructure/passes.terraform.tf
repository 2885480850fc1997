resource "aws_dynamodb_table" "passes" {
  name = "passes"
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
    name = "holder"
    type = "S"
  }

  attribute {
    name = "zone"
    type = "S"
  }

  attribute {
    name = "house"
    type = "S"
  }

  attribute {
    name = "ttl"
    type = "N"
  }

  global_secondary_index {
    name = "byHolder"
    hash_key = "holder"
    range_key = "SK"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "byZone"
    hash_key = "zone"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "byTime"
    hash_key = "house"
    range_key = "ttl"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled = true
  }
}
