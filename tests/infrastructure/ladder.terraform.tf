resource "aws_dynamodb_table" "ladder" {
  name = "ladder"
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
    name = "season"
    type = "N"
  }

  attribute {
    name = "game"
    type = "S"
  }

  attribute {
    name = "region"
    type = "S"
  }

  attribute {
    name = "division"
    type = "N"
  }

  attribute {
    name = "points"
    type = "N"
  }

  attribute {
    name = "wins"
    type = "N"
  }

  attribute {
    name = "day"
    type = "S"
  }

  attribute {
    name = "playerId"
    type = "S"
  }

  attribute {
    name = "place"
    type = "S"
  }

  attribute {
    name = "stage"
    type = "S"
  }

  global_secondary_index {
    name = "Standings"

    key_schema {
      attribute_name = "season"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "game"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "region"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "division"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "points"
      key_type = "RANGE"
    }

    key_schema {
      attribute_name = "wins"
      key_type = "RANGE"
    }

    key_schema {
      attribute_name = "day"
      key_type = "RANGE"
    }

    key_schema {
      attribute_name = "playerId"
      key_type = "RANGE"
    }

    projection_type = "ALL"
  }

  global_secondary_index {
    name = "ByDay"
    hash_key = "day"
    range_key = "points"
    projection_type = "ALL"
  }

  global_secondary_index {
    name = "ByPlace"

    key_schema {
      attribute_name = "game"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "place"
      key_type = "HASH"
    }

    key_schema {
      attribute_name = "stage"
      key_type = "RANGE"
    }

    key_schema {
      attribute_name = "day"
      key_type = "RANGE"
    }

    projection_type = "KEYS_ONLY"
  }
}
