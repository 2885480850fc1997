resource "aws_dynamodb_table" "nishiki_table_dev_db" {
  name = "nishiki-table-dev-db"
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
    name = "GroupId"
    type = "S"
  }

  attribute {
    name = "ContainerId"
    type = "S"
  }

  attribute {
    name = "EMailAddress"
    type = "S"
  }

  attribute {
    name = "InvitationLinkHash"
    type = "S"
  }

  global_secondary_index {
    name = "UserAndGroupRelationship"
    hash_key = "GroupId"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "GroupAndContainerRelationship"
    hash_key = "ContainerId"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "EMailAndUserIdRelationship"
    hash_key = "EMailAddress"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "InvitationHash"
    hash_key = "InvitationLinkHash"
    projection_type = "INCLUDE"
    non_key_attributes = ["LinkExpiryDatetime"]
  }
}

resource "aws_dynamodb_table" "develop_favorite" {
  name = "develop.Favorite"
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
    name = "gsiOne"
    hash_key = "gsiOnePk"
    range_key = "gsiOneSk"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "gsiTwo"
    hash_key = "gsiTwoPk"
    range_key = "gsiTwoSk"
    projection_type = "ALL"
  }

  local_secondary_index {
    name = "lsiOne"
    range_key = "lsiOneSk"
    projection_type = "ALL"
  }

  local_secondary_index {
    name = "lsiTwo"
    range_key = "lsiTwoSk"
    projection_type = "ALL"
  }

  local_secondary_index {
    name = "lsiThree"
    range_key = "lsiThreeSk"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled = true
  }
}

resource "aws_dynamodb_table" "data" {
  name = "data"
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
    name = "status"
    type = "S"
  }

  attribute {
    name = "createdAt"
    type = "S"
  }

  global_secondary_index {
    name = "GS1"
    hash_key = "status"
    range_key = "createdAt"
    projection_type = "ALL"
  }
}
