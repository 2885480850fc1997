resource "aws_dynamodb_table" "library" {
  name = "library"
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
}

resource "aws_dynamodb_table" "people" {
  name = "people"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "PK"

  attribute {
    name = "PK"
    type = "S"
  }
}
