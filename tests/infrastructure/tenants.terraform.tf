resource "aws_dynamodb_table" "workspace" {
  name = "workspace"
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
    name = "memberPk"
    type = "S"
  }

  attribute {
    name = "memberSk"
    type = "S"
  }

  global_secondary_index {
    name = "byMember"
    hash_key = "memberPk"
    range_key = "memberSk"
    projection_type = "ALL"
  }
}
