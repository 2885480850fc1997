resource "aws_dynamodb_table" "audiobooksync" {
  name = "AudiobookSync"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "acr"
  range_key = "targetAcr"

  attribute {
    name = "acr"
    type = "S"
  }

  attribute {
    name = "targetAcr"
    type = "S"
  }

  attribute {
    name = "GSI-1"
    type = "S"
  }

  attribute {
    name = "GSI-2"
    type = "S"
  }

  global_secondary_index {
    name = "GSI-1"
    hash_key = "GSI-1"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "GSI-2"
    hash_key = "GSI-2"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "GSI-3"
    hash_key = "targetAcr"
    projection_type = "ALL"
  }
}
