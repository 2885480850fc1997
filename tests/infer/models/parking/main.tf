resource "aws_dynamodb_table" "parking" {
  name         = "parking"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "lot"
  range_key    = "place"

  attribute {
    name = "lot"
    type = "S"
  }
  attribute {
    name = "place"
    type = "S"
  }
  attribute {
    name = "plate"
    type = "S"
  }
  attribute {
    name = "since"
    type = "S"
  }
  global_secondary_index {
    name            = "byPlate"
    hash_key        = "plate"
    range_key       = "since"
    projection_type = "ALL"
  }
}
