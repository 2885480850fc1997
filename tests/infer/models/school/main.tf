resource "aws_dynamodb_table" "school" {
  name         = "school"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  range_key    = "range"

  attribute {
    name = "id"
    type = "S"
  }
  attribute {
    name = "range"
    type = "S"
  }
  global_secondary_index {
    name            = "turned"
    hash_key        = "range"
    range_key       = "id"
    projection_type = "ALL"
  }
}
