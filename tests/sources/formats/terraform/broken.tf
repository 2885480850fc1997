resource "aws_dynamodb_table" "people" {
  name = 
