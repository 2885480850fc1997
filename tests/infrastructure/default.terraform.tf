resource "aws_dynamodb_table" "nishiki_table_dev_db" {
  name         = "nishiki-table-dev-db"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "PK"
  range_key    = "SK"

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
    name            = "UserAndGroupRelationship"
    hash_key        = "GroupId"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name            = "GroupAndContainerRelationship"
    hash_key        = "ContainerId"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name            = "EMailAndUserIdRelationship"
    hash_key        = "EMailAddress"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name               = "InvitationHash"
    hash_key           = "InvitationLinkHash"
    projection_type    = "INCLUDE"
    non_key_attributes = ["LinkExpiryDatetime"]
  }
}
