resource "aws_dynamodb_table" "hot" {
  name = "hot"
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
    name = "timePk"
    type = "S"
  }

  attribute {
    name = "timeSk"
    type = "S"
  }

  attribute {
    name = "genrePk"
    type = "S"
  }

  attribute {
    name = "genreSk"
    type = "S"
  }

  global_secondary_index {
    name = "byTime"
    hash_key = "timePk"
    range_key = "timeSk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "byGenre"
    hash_key = "genrePk"
    range_key = "genreSk"
    projection_type = "KEYS_ONLY"
  }

  ttl {
    attribute_name = "expires"
    enabled = true
  }
}
