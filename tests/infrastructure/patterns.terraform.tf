resource "aws_dynamodb_table" "games" {
  name = "Games"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "Opponent"
  range_key = "GameId"

  attribute {
    name = "Opponent"
    type = "S"
  }

  attribute {
    name = "GameId"
    type = "S"
  }

  attribute {
    name = "Date"
    type = "S"
  }

  attribute {
    name = "StatusDate"
    type = "S"
  }

  local_secondary_index {
    name = "ByDate"
    range_key = "Date"
    projection_type = "ALL"
  }

  local_secondary_index {
    name = "ByStatus"
    range_key = "StatusDate"
    projection_type = "ALL"
  }
}

resource "aws_dynamodb_table" "carttable" {
  name = "CartTable"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "CartID"
  range_key = "ItemSKU"

  attribute {
    name = "CartID"
    type = "S"
  }

  attribute {
    name = "ItemSKU"
    type = "S"
  }

  attribute {
    name = "StatusDate"
    type = "S"
  }

  global_secondary_index {
    name = "CartStatus"
    hash_key = "CartID"
    range_key = "StatusDate"
    projection_type = "ALL"
  }
}

resource "aws_dynamodb_table" "game_scores_table" {
  name = "Game-scores-table"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "Id"

  attribute {
    name = "Id"
    type = "S"
  }

  attribute {
    name = "Award"
    type = "S"
  }

  attribute {
    name = "Game"
    type = "S"
  }

  attribute {
    name = "Score"
    type = "N"
  }

  global_secondary_index {
    name = "Award-GSI"
    hash_key = "Award"
    projection_type = "INCLUDE"
    non_key_attributes = ["User", "Score"]
  }

  global_secondary_index {
    name = "Game-Score-GSI"
    hash_key = "Game"
    range_key = "Score"
    projection_type = "ALL"
  }
}

resource "aws_dynamodb_table" "votes" {
  name = "Votes"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "Candidate"
  range_key = "VoterId"

  attribute {
    name = "Candidate"
    type = "S"
  }

  attribute {
    name = "VoterId"
    type = "S"
  }

  attribute {
    name = "CastAt"
    type = "S"
  }

  local_secondary_index {
    name = "ByTime"
    range_key = "CastAt"
    projection_type = "ALL"
  }
}

resource "aws_dynamodb_table" "reports" {
  name = "Reports"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "ReportID"

  attribute {
    name = "ReportID"
    type = "S"
  }

  attribute {
    name = "Owner"
    type = "S"
  }

  attribute {
    name = "StateDate"
    type = "S"
  }

  global_secondary_index {
    name = "Inbox"
    hash_key = "Owner"
    range_key = "StateDate"
    projection_type = "INCLUDE"
    non_key_attributes = ["Summary"]
  }
}

resource "aws_dynamodb_table" "attachments" {
  name = "Attachments"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "ReportID"
  range_key = "Digest"

  attribute {
    name = "ReportID"
    type = "S"
  }

  attribute {
    name = "Digest"
    type = "B"
  }
}

resource "aws_dynamodb_table" "gamers" {
  name = "Gamers"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "GamerTag"
  range_key = "Type"

  attribute {
    name = "GamerTag"
    type = "S"
  }

  attribute {
    name = "Type"
    type = "S"
  }
}

resource "aws_dynamodb_table" "offices" {
  name = "Offices"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "COUNTRY"
  range_key = "LOCATION"

  attribute {
    name = "COUNTRY"
    type = "S"
  }

  attribute {
    name = "LOCATION"
    type = "S"
  }
}

resource "aws_dynamodb_table" "jobs" {
  name = "Jobs"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "JobId"

  attribute {
    name = "JobId"
    type = "S"
  }

  attribute {
    name = "DueShard"
    type = "S"
  }

  attribute {
    name = "DueAt"
    type = "N"
  }

  global_secondary_index {
    name = "Due"
    hash_key = "DueShard"
    range_key = "DueAt"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ExpiresAt"
    enabled = true
  }
}

resource "aws_dynamodb_table" "productcatalog" {
  name = "ProductCatalog"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "ProductId"
  range_key = "SK"
  stream_enabled = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  attribute {
    name = "ProductId"
    type = "S"
  }

  attribute {
    name = "SK"
    type = "S"
  }
}
