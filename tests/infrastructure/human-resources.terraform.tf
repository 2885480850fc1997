resource "aws_dynamodb_table" "projectmanagement" {
  name = "projectmanagement"
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
    name = "gsi1pk"
    type = "S"
  }

  attribute {
    name = "gsi1sk"
    type = "S"
  }

  attribute {
    name = "gsi2pk"
    type = "S"
  }

  attribute {
    name = "gsi2sk"
    type = "S"
  }

  attribute {
    name = "gsi3pk"
    type = "S"
  }

  attribute {
    name = "gsi3sk"
    type = "S"
  }

  attribute {
    name = "gsi4pk"
    type = "S"
  }

  attribute {
    name = "gsi4sk"
    type = "S"
  }

  attribute {
    name = "gsi5pk"
    type = "S"
  }

  attribute {
    name = "gsi5sk"
    type = "S"
  }

  global_secondary_index {
    name = "gsi1pk-gsi1sk-index"
    hash_key = "gsi1pk"
    range_key = "gsi1sk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "gsi2pk-gsi2sk-index"
    hash_key = "gsi2pk"
    range_key = "gsi2sk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "gsi3pk-gsi3sk-index"
    hash_key = "gsi3pk"
    range_key = "gsi3sk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "gsi4pk-gsi4sk-index"
    hash_key = "gsi4pk"
    range_key = "gsi4sk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "gsi5pk-gsi5sk-index"
    hash_key = "gsi5pk"
    range_key = "gsi5sk"
    projection_type = "ALL"
  }
}
