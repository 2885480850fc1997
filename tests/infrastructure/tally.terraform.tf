resource "aws_dynamodb_table" "tally" {
  name = "tally"
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

  global_secondary_index {
    name = "byTime"
    hash_key = "timePk"
    range_key = "timeSk"
    projection_type = "ALL"
  }
}
