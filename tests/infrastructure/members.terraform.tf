resource "aws_dynamodb_table" "members" {
  name = "members"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "PK"
  range_key = "SK"
  stream_enabled = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  attribute {
    name = "PK"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }

  attribute {
    name = "groupPk"
    type = "S"
  }

  attribute {
    name = "groupSk"
    type = "S"
  }

  attribute {
    name = "linkPk"
    type = "S"
  }

  attribute {
    name = "statusPk"
    type = "S"
  }

  attribute {
    name = "statusSk"
    type = "S"
  }

  global_secondary_index {
    name = "byGroup"
    hash_key = "groupPk"
    range_key = "groupSk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "byLink"
    hash_key = "linkPk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "byStatus"
    hash_key = "statusPk"
    range_key = "statusSk"
    projection_type = "ALL"
  }
}
