//! The formats of what a person brings, each with its name for people.

use std::fmt;

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceFormat {
    /// No bytes, or white space.
    Empty,
    /// Lines of `{"Item": {…}}`.
    ItemLines,
    /// Items in DynamoDB's JSON, one after another.
    TypedItems,
    /// Items in JSON without types, one after another.
    PlainItems,
    /// A full export to S3.
    Export,
    /// An incremental export to S3.
    IncrementalExport,
    /// What a Scan or a Query gives.
    ScanOutput,
    /// What a GetItem gives.
    GetOutput,
    /// A BatchWriteItem or TransactWriteItems request.
    WriteRequest,
    /// What a BatchGetItem or TransactGetItems gives.
    BatchOutput,
    /// Rows with a header.
    Csv,
    /// A model of NoSQL Workbench, or of a visualizer.
    Workbench,
    /// `schema.json` of AWS's DynamoDB MCP server.
    McpSchema,
    /// `dynamodb_data_model.json` of AWS's DynamoDB MCP server.
    McpDataModel,
    /// A CreateTable request or a description of a table.
    CreateTable,
    /// A template of CloudFormation, SAM or the CDK.
    CloudFormation,
    /// A service of the Serverless Framework.
    Serverless,
    /// A configuration of Terraform.
    Terraform,
    /// A schema of Amplify or AppSync.
    Amplify,
    /// A model of ElectroDB.
    ElectroDb,
    /// A schema of OneTable.
    OneTable,
}

impl SourceFormat {
    /// Whether a file of the format is there for its items.
    pub fn holds_items(self) -> bool {
        !matches!(
            self,
            Self::Workbench
                | Self::McpSchema
                | Self::McpDataModel
                | Self::CreateTable
                | Self::CloudFormation
                | Self::Serverless
                | Self::Terraform
                | Self::Amplify
                | Self::ElectroDb
                | Self::OneTable
        )
    }
}

impl fmt::Display for SourceFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "an empty file",
            Self::ItemLines => "lines of {\"Item\": …}",
            Self::TypedItems => "items in DynamoDB's JSON",
            Self::PlainItems => "items in plain JSON",
            Self::Export => "an export to S3",
            Self::IncrementalExport => "an incremental export to S3",
            Self::ScanOutput => "the output of a Scan or a Query",
            Self::GetOutput => "the output of a GetItem",
            Self::WriteRequest => "a request of writes",
            Self::BatchOutput => "the output of a BatchGetItem or a TransactGetItems",
            Self::Csv => "a CSV file",
            Self::Workbench => "a model of NoSQL Workbench or a visualizer",
            Self::McpSchema => "a schema.json of the DynamoDB MCP server",
            Self::McpDataModel => "a data model of the DynamoDB MCP server",
            Self::CreateTable => "a CreateTable request or a table's description",
            Self::CloudFormation => "a CloudFormation template",
            Self::Serverless => "a service of the Serverless Framework",
            Self::Terraform => "a Terraform configuration",
            Self::Amplify => "a schema of Amplify or AppSync",
            Self::ElectroDb => "a model of ElectroDB",
            Self::OneTable => "a schema of OneTable",
        })
    }
}
