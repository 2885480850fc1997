resource "aws_dynamodb_table" "tournamentmatches" {
  name = "TournamentMatches"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "matchId"

  attribute {
    name = "matchId"
    type = "S"
  }

  attribute {
    name = "tournamentId"
    type = "S"
  }

  attribute {
    name = "region"
    type = "S"
  }

  attribute {
    name = "round"
    type = "N"
  }

  attribute {
    name = "bracket"
    type = "S"
  }

  attribute {
    name = "player1Id"
    type = "S"
  }

  attribute {
    name = "matchDate"
    type = "S"
  }

  attribute {
    name = "winnerId"
    type = "S"
  }

  global_secondary_index {
    name = "TournamentRegionIndex"

    key_schema {
      attribute_name = "tournamentId"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "region"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "round"
      key_type = "RANGE"
    }

    key_schema {
      attribute_name = "bracket"
      key_type = "RANGE"
    }

    projection_type = "ALL"
  }

  global_secondary_index {
    name = "PlayerMatchHistoryIndex"

    key_schema {
      attribute_name = "player1Id"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "matchDate"
      key_type = "RANGE"
    }

    key_schema {
      attribute_name = "round"
      key_type = "RANGE"
    }

    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "WinnersIndex"

    key_schema {
      attribute_name = "tournamentId"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "winnerId"
      key_type = "HASH"
    }

    projection_type = "INCLUDE"
    non_key_attributes = ["score"]
  }
}
