resource "aws_dynamodb_table" "wards" {
  name = "wards"
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
    name = "month"
    type = "S"
  }

  attribute {
    name = "day"
    type = "S"
  }

  attribute {
    name = "place"
    type = "S"
  }

  attribute {
    name = "address"
    type = "S"
  }

  global_secondary_index {
    name = "byMonth"
    hash_key = "month"
    range_key = "day"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "byPlace"
    hash_key = "place"
    range_key = "address"
    projection_type = "ALL"
  }
}
