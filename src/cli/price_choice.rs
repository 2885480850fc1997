//! Arguments, and AWS's price list of DynamoDB, in; the price of request units in a region out.

use super::output;
use crate::plan::cost::price::UnitPrice;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Where AWS has the list of a region.
const SOURCE: &str = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/REGION/index.json";
/// The products that are request units of on-demand tables.
const ON_DEMAND: &str = "Amazon DynamoDB PayPerRequest Throughput";
const READS: &str = "DDB-ReadUnits";
const WRITES: &str = "DDB-WriteUnits";

/// Whose prices count.
#[derive(Debug, Args)]
pub struct PriceChoice {
    /// The region whose prices on demand count [default: us-east-1, or the one region of --price-list]
    #[arg(long, value_name = "REGION")]
    price_region: Option<String>,

    /// AWS's price list of DynamoDB, of one region or of all, instead of the prices that are built in:
    /// https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/REGION/index.json
    #[arg(long, value_name = "FILE")]
    price_list: Option<PathBuf>,
}

impl PriceChoice {
    /// The price. Fails if the region has none, or the list cannot be read.
    pub fn price(&self) -> Result<UnitPrice> {
        match (&self.price_list, &self.price_region) {
            (Some(file), region) => from_file(file, region.as_deref()),
            (None, None) => Ok(UnitPrice::default()),
            (None, Some(region)) => UnitPrice::built_in(region).with_context(|| {
                let source = SOURCE.replace("REGION", region);
                format!(
                    "the prices of {region} are not built in, as those of {} are: download {source}, and name it with --price-list",
                    UnitPrice::regions()
                )
            }),
        }
    }
}

fn from_file(file: &Path, region: Option<&str>) -> Result<UnitPrice> {
    let open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let list: PriceList = serde_json::from_reader(BufReader::new(open))
        .with_context(|| format!("{} is not a price list of AWS, such as {SOURCE}", file.display()))?;
    list.price(region).with_context(|| format!("cannot read the prices of {}", file.display()))
}

/// A price list, as the AWS price list bulk API has it (AWS billing user guide, "Reading the service price list file").
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PriceList {
    publication_date: String,
    products: HashMap<String, Product>,
    terms: Terms,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Product {
    #[serde(default)]
    product_family: String,
    #[serde(default)]
    attributes: HashMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Terms {
    on_demand: HashMap<String, HashMap<String, Value>>,
}

impl PriceList {
    fn price(&self, region: Option<&str>) -> Result<UnitPrice> {
        let regions: BTreeSet<&str> = self.products.values().filter_map(Product::region).collect();
        let named: Vec<&str> = regions.into_iter().collect();
        let region = match (region, named.as_slice()) {
            (Some(region), _) => region,
            (None, [only]) => only,
            (None, []) => bail!("it has no request units of DynamoDB"),
            (None, _) => {
                bail!("it has {}: choose one with --price-region", output::counted(named.len() as u64, "region"))
            }
        };
        Ok(UnitPrice {
            region: region.to_owned(),
            date: self.publication_date.chars().take_while(|sign| *sign != 'T').collect(),
            reads: self.dollars_a_million(region, READS)?,
            writes: self.dollars_a_million(region, WRITES)?,
        })
    }

    /// Dollars for a million units of a group.
    fn dollars_a_million(&self, region: &str, group: &str) -> Result<f64> {
        let is_wanted = |product: &Product| {
            product.region() == Some(region) && product.attributes.get("group").is_some_and(|own| own == group)
        };
        let wanted = self.products.iter().filter(|(_, product)| is_wanted(product));
        let terms = wanted.filter_map(|(sku, _)| self.terms.on_demand.get(sku)).flat_map(HashMap::values);
        let dimensions = terms.filter_map(|term| term["priceDimensions"].as_object()).flat_map(|all| all.values());
        let dollars = dimensions.filter_map(|dimension| dimension["pricePerUnit"]["USD"].as_str()?.parse::<f64>().ok());
        // What is free up to a quantity stands beside the price.
        let dearest = dollars.filter(|price| price.is_finite() && *price > 0.0).reduce(f64::max);
        // A list has at most ten decimals. So none is lost, and none comes from the multiplication.
        dearest
            .map(|price| (price * 1e12).round() / 1e6)
            .with_context(|| format!("{region} has no price of {group} in dollars"))
    }
}

impl Product {
    /// The region, if the product is a request unit.
    fn region(&self) -> Option<&str> {
        let is_unit = self.product_family == ON_DEMAND
            && self.attributes.get("group").is_some_and(|group| [READS, WRITES].contains(&group.as_str()));
        self.attributes.get("regionCode").filter(|_| is_unit).map(String::as_str)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn list(regions: &[(&str, &str, &str)]) -> PriceList {
        let (mut products, mut terms) = (json!({}), json!({}));
        for (region, reads, writes) in regions {
            for (group, family, price) in [
                (READS, ON_DEMAND, *reads),
                (WRITES, ON_DEMAND, *writes),
                ("DDB-ReadUnitsIA", ON_DEMAND, "9"),
                (READS, "Provisioned IOPS", "8"),
            ] {
                let sku = format!("{region}{group}{}", family.len());
                let attributes = json!({ "group": group, "regionCode": region, "servicecode": "AmazonDynamoDB" });
                products[&sku] = json!({ "sku": sku, "productFamily": family, "attributes": attributes });
                let dimension = |price: &str| json!({ "unit": "ReadRequestUnits", "pricePerUnit": { "USD": price } });
                let dimensions = json!({ "free": dimension("0.0000000000"), "paid": dimension(price) });
                terms[&sku] = json!({ format!("{sku}.T"): { "sku": sku, "priceDimensions": dimensions } });
            }
        }
        let list = json!({
            "formatVersion": "v1.0", "publicationDate": "2026-10-07T20:15:00Z", "products": products,
            "terms": { "OnDemand": terms, "Reserved": {} },
        });
        serde_json::from_value(list).unwrap()
    }

    #[test]
    fn a_list_of_aws_has_the_prices_of_regions() {
        let one = list(&[("eu-west-1", "0.0000001415", "0.0000007050")]).price(None).unwrap();
        assert_eq!((one.region.as_str(), one.date.as_str()), ("eu-west-1", "2026-10-07"));
        assert!((one.reads - 0.1415).abs() < 1e-9 && (one.writes - 0.705).abs() < 1e-9, "{one:?}");
        let several = list(&[("eu-west-1", "0.0000001415", "0.0000007050"), ("us-east-1", "0.000000125", "x")]);
        assert_eq!(several.price(None).unwrap_err().to_string(), "it has 2 regions: choose one with --price-region");
        assert_eq!(several.price(Some("eu-west-1")).unwrap(), one);
        let unpriced = several.price(Some("us-east-1")).unwrap_err().to_string();
        assert_eq!(unpriced, "us-east-1 has no price of DDB-WriteUnits in dollars");
        assert_eq!(list(&[]).price(None).unwrap_err().to_string(), "it has no request units of DynamoDB");
    }
}
