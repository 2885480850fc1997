resource "aws_dynamodb_table" "feeds" {
  name = "feeds"
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
    name = "feed"
    type = "S"
  }

  attribute {
    name = "at"
    type = "S"
  }

  global_secondary_index {
    name = "byTime"
    hash_key = "feed"
    range_key = "at"
    projection_type = "ALL"
  }
}
