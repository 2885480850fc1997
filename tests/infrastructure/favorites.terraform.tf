resource "aws_dynamodb_table" "develop_favorite" {
  name         = "develop.Favorite"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"
  range_key    = "sk"

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  attribute {
    name = "gsiOnePk"
    type = "S"
  }

  attribute {
    name = "gsiOneSk"
    type = "S"
  }

  attribute {
    name = "gsiTwoPk"
    type = "S"
  }

  attribute {
    name = "gsiTwoSk"
    type = "S"
  }

  attribute {
    name = "lsiOneSk"
    type = "S"
  }

  attribute {
    name = "lsiTwoSk"
    type = "S"
  }

  attribute {
    name = "lsiThreeSk"
    type = "S"
  }

  global_secondary_index {
    name            = "gsiOne"
    hash_key        = "gsiOnePk"
    range_key       = "gsiOneSk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "gsiTwo"
    hash_key        = "gsiTwoPk"
    range_key       = "gsiTwoSk"
    projection_type = "ALL"
  }

  local_secondary_index {
    name            = "lsiOne"
    range_key       = "lsiOneSk"
    projection_type = "ALL"
  }

  local_secondary_index {
    name            = "lsiTwo"
    range_key       = "lsiTwoSk"
    projection_type = "ALL"
  }

  local_secondary_index {
    name            = "lsiThree"
    range_key       = "lsiThreeSk"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }
}
