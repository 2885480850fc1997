resource "aws_dynamodb_table" "boards" {
  name = "boards"
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
    name = "OwnerKey"
    type = "S"
  }

  attribute {
    name = "OwnerSort"
    type = "S"
  }

  attribute {
    name = "OpenKey"
    type = "S"
  }

  attribute {
    name = "OpenSort"
    type = "S"
  }

  global_secondary_index {
    name = "ByOwner"
    hash_key = "OwnerKey"
    range_key = "OwnerSort"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "Open"
    hash_key = "OpenKey"
    range_key = "OpenSort"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "until"
    enabled = true
  }
}
