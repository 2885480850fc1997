resource "aws_dynamodb_table" "depot" {
  name = "depot"
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
    name = "CodeKey"
    type = "S"
  }

  attribute {
    name = "SlugKey"
    type = "S"
  }

  global_secondary_index {
    name = "ByOwner"
    hash_key = "OwnerKey"
    range_key = "PK"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "ByCode"
    hash_key = "CodeKey"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "BySlug"
    hash_key = "SlugKey"
    projection_type = "ALL"
  }
}
