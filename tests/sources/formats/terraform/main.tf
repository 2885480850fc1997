variable "stage" {
  default = "dev"
}
variable "owner" {}

locals {
  name = "${var.stage}-people"
}

resource "aws_dynamodb_table" "people" {
  name         = local.name
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "PK"
  range_key    = "SK"

  attribute {
    name = "PK"
    type = "S"
  }
  attribute {
    name = "SK"
    type = "N"
  }
  attribute {
    name = "mail"
    type = "S"
  }
  global_secondary_index {
    name               = "ByMail"
    hash_key           = "mail"
    projection_type    = "INCLUDE"
    non_key_attributes = ["name"]
  }
  attribute {
    name = "region"
    type = "S"
  }
  attribute {
    name = "age"
    type = "N"
  }
  global_secondary_index {
    name = "ByRegion"
    key_schema {
      attribute_name = "mail"
      key_type       = "HASH"
    }
    key_schema {
      attribute_name = "region"
      key_type       = "HASH"
    }
    key_schema {
      attribute_name = "age"
      key_type       = "RANGE"
    }
    projection_type = "ALL"
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  stream_enabled   = true
  stream_view_type = "KEYS_ONLY"
}

resource "aws_dynamodb_table" "theirs" {
  name           = "${var.owner}-table"
  hash_key       = "id"
  read_capacity  = 5
  write_capacity = 6
  dynamic "attribute" {
    for_each = []
    content {}
  }
}
