resource "aws_dynamodb_table" "shop_orders_v2" {
  name = "shop.orders-v2"
  billing_mode = "PROVISIONED"
  read_capacity = 100
  write_capacity = 20
  hash_key = "customer"
  range_key = "placed"
  stream_enabled = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  attribute {
    name = "customer"
    type = "S"
  }

  attribute {
    name = "placed"
    type = "N"
  }

  attribute {
    name = "digest \"sha\""
    type = "B"
  }

  attribute {
    name = "total"
    type = "N"
  }

  attribute {
    name = "%%{status}"
    type = "S"
  }

  global_secondary_index {
    name = "byDigest"
    hash_key = "digest \"sha\""
    range_key = "placed"
    projection_type = "ALL"
    read_capacity = 10
    write_capacity = 20
  }

  local_secondary_index {
    name = "byTotal"
    range_key = "total"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name = "byStatus"
    hash_key = "%%{status}"
    projection_type = "INCLUDE"
    non_key_attributes = ["total", "line\\item"]
    read_capacity = 5
    write_capacity = 1
  }

  ttl {
    attribute_name = "it's $${over}"
    enabled = true
  }

  point_in_time_recovery {
    enabled = true
  }
}

resource "aws_dynamodb_table" "shop_orders_v2_2" {
  name = "shop-orders.v2"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "pk"
  stream_enabled = true
  stream_view_type = "KEYS_ONLY"

  attribute {
    name = "pk"
    type = "S"
  }
}

resource "aws_dynamodb_table" "table_2nd" {
  name = "2nd"
  billing_mode = "PAY_PER_REQUEST"
  hash_key = "pk"

  attribute {
    name = "pk"
    type = "S"
  }

  ttl {
    attribute_name = "ttl"
    enabled = true
  }
}
