# Keyfold as a Lambda function with a URL that streams large answers. docs/deploy/lambda.md says how to use it.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.29"
    }
  }
}

variable "name" {
  type        = string
  description = "The name of the function, its role and its alarms"
  default     = "keyfold"
}

variable "package" {
  type        = string
  description = "A zip with the binary, named bootstrap, and schema.graphql"
  default     = "package.zip"
}

variable "policy" {
  type        = string
  description = "The file that `keyfold tables --format iam` wrote"
  default     = "policy.json"
}

variable "issuer" {
  type        = string
  description = "The issuer of tokens, as their claim iss has it"
}

variable "audience" {
  type        = string
  description = "The audience that the tokens are for"
}

variable "cursor_key_secret" {
  type        = string
  description = "The name of the secret whose text is KEYFOLD_CURSOR_KEY, in Secrets Manager"
  default     = "keyfold/cursor-key"
}

variable "memory_mb" {
  type        = number
  description = "A function gets processor time in proportion, one vCPU at 1769 MB"
  default     = 512
}

variable "max_instances" {
  type        = number
  description = "Instances that run at once at most, each with one request"
  default     = 100
}

variable "alarm_topics" {
  type        = list(string)
  description = "ARNs of the SNS topics that alarms go to"
  default     = []
}

data "aws_secretsmanager_secret_version" "cursor_key" {
  secret_id = var.cursor_key_secret
}

data "aws_iam_policy_document" "lambda" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "log" {
  statement {
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.this.arn}:*"]
  }
}

resource "aws_iam_role" "this" {
  name               = var.name
  assume_role_policy = data.aws_iam_policy_document.lambda.json
}

resource "aws_iam_role_policy" "log" {
  name   = "log"
  role   = aws_iam_role.this.id
  policy = data.aws_iam_policy_document.log.json
}

# A managed policy may have 6144 characters. The schema of many tables has more: give the role several.
resource "aws_iam_policy" "tables" {
  name   = "${var.name}-tables"
  policy = file(var.policy)
}

resource "aws_iam_role_policy_attachment" "tables" {
  role       = aws_iam_role.this.name
  policy_arn = aws_iam_policy.tables.arn
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/aws/lambda/${var.name}"
  retention_in_days = 30
}

resource "aws_lambda_function" "this" {
  function_name    = var.name
  role             = aws_iam_role.this.arn
  filename         = var.package
  source_code_hash = filebase64sha256(var.package)
  handler          = "bootstrap"
  runtime          = "provided.al2023"
  architectures    = ["arm64"]
  memory_size      = var.memory_mb
  timeout          = 30

  reserved_concurrent_executions = var.max_instances

  environment {
    variables = {
      KEYFOLD_ISSUER     = var.issuer
      KEYFOLD_AUDIENCE   = var.audience
      KEYFOLD_CURSOR_KEY = data.aws_secretsmanager_secret_version.cursor_key.secret_string
      KEYFOLD_LOG_FORMAT = "json"
      # It fits the invoke mode of the URL below.
      KEYFOLD_LAMBDA_STREAMING = "true"
    }
  }

  logging_config {
    log_format = "JSON"
    log_group  = aws_cloudwatch_log_group.this.name
  }

  depends_on = [aws_iam_role_policy.log, aws_iam_role_policy_attachment.tables]
}

# Everybody may call the URL: Keyfold itself checks the tokens. The provider adds the two permissions of a URL without authorization, since 6.29
# also the second one, which new URLs need (Lambda developer guide, "Control access to Lambda function URLs").
resource "aws_lambda_function_url" "this" {
  function_name      = aws_lambda_function.this.function_name
  authorization_type = "NONE"
  invoke_mode        = "RESPONSE_STREAM"
}

locals {
  alarms = {
    errors = {
      description = "The function failed or ran out of time or memory. Errors of GraphQL are not among these."
      metric      = "Errors"
      statistic   = "Sum"
      threshold   = 1
    }
    throttles = {
      description = "More requests at once than instances. Raise max_instances, or the account's concurrency."
      metric      = "Throttles"
      statistic   = "Sum"
      threshold   = 1
    }
    failed-requests = {
      description = "The URL answered with 500 or more."
      metric      = "Url5xxCount"
      statistic   = "Sum"
      threshold   = 5
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.description
  namespace           = "AWS/Lambda"
  metric_name         = each.value.metric
  dimensions          = { FunctionName = aws_lambda_function.this.function_name }
  statistic           = each.value.statistic
  period              = 60
  evaluation_periods  = 3
  datapoints_to_alarm = 2
  threshold           = each.value.threshold
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topics
  ok_actions          = var.alarm_topics
}

# Requests with errors that are not their callers'.
resource "aws_cloudwatch_log_metric_filter" "failed_operations" {
  name           = "${var.name}-failed-operations"
  log_group_name = aws_cloudwatch_log_group.this.name
  pattern        = "{ ($.status >= 500) || ($.codes = \"*INTERNAL*\") || ($.codes = \"*THROTTLED*\") || ($.codes = \"*TIMEOUT*\") || ($.codes = \"*UNAVAILABLE*\") }"

  metric_transformation {
    namespace     = "Keyfold"
    name          = "${var.name}-failed-operations"
    value         = "1"
    default_value = "0"
  }
}

resource "aws_cloudwatch_metric_alarm" "failed_operations" {
  alarm_name          = "${var.name}-failed-operations"
  alarm_description   = "Ten requests in five minutes failed by no fault of their callers. The log has each one with its codes."
  namespace           = "Keyfold"
  metric_name         = aws_cloudwatch_log_metric_filter.failed_operations.metric_transformation[0].name
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = 10
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topics
  ok_actions          = var.alarm_topics
}

resource "aws_cloudwatch_metric_alarm" "latency" {
  alarm_name          = "${var.name}-latency"
  alarm_description   = "One answer in a hundred takes more than two seconds."
  namespace           = "AWS/Lambda"
  metric_name         = "Duration"
  dimensions          = { FunctionName = aws_lambda_function.this.function_name }
  extended_statistic  = "p99"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  threshold           = 2000
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topics
  ok_actions          = var.alarm_topics
}

output "endpoint" {
  description = "The API"
  value       = "${aws_lambda_function_url.this.function_url}graphql"
}
