//! The program that an expert writes by hand for the workload of reviews: it reads what the operation asks for level by
//! level, side by side, and nothing that an earlier level has brought.

use super::by_hand::{Item, collection, text, written};
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use aws_sdk_dynamodb::{Client, Error};
use futures_util::future::{try_join, try_join_all};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
struct Data<'i> {
    users: Vec<User<'i>>,
    #[serde(rename = "topProducts")]
    top_products: Vec<Product<'i>>,
}

#[derive(Serialize)]
struct User<'i> {
    id: &'i str,
    username: &'i str,
    name: &'i str,
    reviews: Vec<Review<'i>>,
}

#[derive(Serialize)]
struct Review<'i> {
    id: &'i str,
    body: &'i str,
    #[serde(skip_serializing_if = "Option::is_none")]
    product: Option<Product<'i>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<User<'i>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Product<'i> {
    in_stock: bool,
    name: &'i str,
    price: i64,
    shipping_estimate: Option<i64>,
    upc: &'i str,
    weight: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reviews: Option<Vec<Review<'i>>>,
}

/// What has been read.
#[derive(Default)]
struct Known {
    users: BTreeMap<String, Item>,
    products: BTreeMap<String, Item>,
    /// By product and id.
    reviews: BTreeMap<(String, String), Item>,
    links_of_users: BTreeMap<String, Vec<Item>>,
    ids_of_products: BTreeMap<String, Vec<String>>,
}

/// The response.
pub async fn users_and_top_products(client: &Client) -> Result<Vec<u8>, Error> {
    let mut known = Known::default();
    let (users, top) = try_join(partition(client, "USERS"), partition(client, "PRODUCTS")).await?;
    let ids = |items: &[Item], name| items.iter().map(|item| text(item, name).to_owned()).collect::<Vec<_>>();
    let (users_listed, products_listed) = (ids(&users, "id"), ids(&top, "upc"));
    known.add(users.into_iter().chain(top));
    known.read_lists(client, users_listed.clone(), products_listed.clone()).await?;
    // The reviews of the listed users, and all that their products lead to.
    let linked = known.linked(&users_listed);
    let upcs = linked.iter().map(|(upc, _)| upc.clone()).collect::<Vec<_>>();
    known.read_lists(client, Vec::new(), upcs.clone()).await?;
    known.read_items(client, linked, Vec::new()).await?;
    let authors = known.reviews.values().map(|review| text(review, "authorId").to_owned()).collect::<Vec<_>>();
    known.read_lists(client, authors.clone(), Vec::new()).await?;
    known.read_items(client, known.linked(&authors), authors).await?;
    let data = Data {
        users: users_listed.iter().map(|id| known.user(id, true)).collect(),
        top_products: products_listed.iter().map(|upc| known.product(upc, true)).collect(),
    };
    Ok(written(&data))
}

impl Known {
    /// Keeps items, by what their keys say of them.
    fn add(&mut self, items: impl Iterator<Item = Item>) {
        for item in items {
            let own = |name| text(&item, name).to_owned();
            match text(&item, "PK") {
                "USERS" => self.users.insert(own("id"), item),
                "PRODUCTS" => self.products.insert(own("upc"), item),
                _ => self.reviews.insert((own("upc"), own("id")), item),
            };
        }
    }

    /// The reviews that users are linked to.
    fn linked(&self, users: &[String]) -> BTreeSet<(String, String)> {
        let links = users.iter().flat_map(|user| &self.links_of_users[user]);
        links.map(|link| (text(link, "upc").to_owned(), text(link, "reviewId").to_owned())).collect()
    }

    /// Reads the links of users and the reviews of products, where they are not known.
    async fn read_lists(&mut self, client: &Client, users: Vec<String>, upcs: Vec<String>) -> Result<(), Error> {
        let users = users.into_iter().filter(|user| !self.links_of_users.contains_key(user)).collect::<BTreeSet<_>>();
        let upcs = upcs.into_iter().filter(|upc| !self.ids_of_products.contains_key(upc)).collect::<BTreeSet<_>>();
        let links = try_join_all(users.iter().map(|user| partition(client, format!("USER#{user}"))));
        let reviews = try_join_all(upcs.iter().map(|upc| partition(client, format!("PRODUCT#{upc}"))));
        let (links, reviews) = try_join(links, reviews).await?;
        self.links_of_users.extend(users.into_iter().zip(links));
        for (upc, reviews) in upcs.into_iter().zip(reviews) {
            self.ids_of_products.insert(upc, reviews.iter().map(|review| text(review, "id").to_owned()).collect());
            self.add(reviews.into_iter());
        }
        Ok(())
    }

    /// Reads reviews with their products, and users, where they are not known, in one BatchGetItem: there are few.
    async fn read_items(
        &mut self,
        client: &Client,
        reviews: BTreeSet<(String, String)>,
        users: Vec<String>,
    ) -> Result<(), Error> {
        let products = reviews.iter().filter(|(upc, _)| !self.products.contains_key(upc));
        let products = products.map(|(upc, _)| ("PRODUCTS".to_owned(), format!("PRODUCT#{upc}")));
        let unread = reviews.iter().filter(|&review| !self.reviews.contains_key(review));
        let unread = unread.map(|(upc, id)| (format!("PRODUCT#{upc}"), format!("REVIEW#{id}")));
        let users = users.iter().filter(|&user| !self.users.contains_key(user));
        let users = users.map(|user| ("USERS".to_owned(), format!("USER#{user}")));
        let keys: BTreeSet<_> = products.chain(unread).chain(users).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let key = |(partition, sort)| {
            Item::from(
                [("PK", partition), ("SK", sort)].map(|(name, value)| (name.to_owned(), AttributeValue::S(value))),
            )
        };
        let mut wanted = KeysAndAttributes::builder().set_keys(Some(keys.into_iter().map(key).collect())).build().ok();
        while let Some(keys) = wanted.take() {
            let got = client.batch_get_item().request_items("Reviews", keys).send().await?;
            self.add(got.responses.unwrap_or_default().into_values().flatten());
            wanted = got.unprocessed_keys.unwrap_or_default().remove("Reviews");
        }
        Ok(())
    }

    fn user(&self, id: &str, is_deep: bool) -> User<'_> {
        let (user, links) = (&self.users[id], &self.links_of_users[id]);
        let review = |link| {
            let upc = text(link, "upc");
            let review = &self.reviews[&(upc.to_owned(), text(link, "reviewId").to_owned())];
            Review { product: Some(self.product(upc, is_deep)), author: None, ..alone(review) }
        };
        User {
            id: text(user, "id"),
            username: text(user, "username"),
            name: text(user, "name"),
            reviews: links.iter().map(review).collect(),
        }
    }

    fn product(&self, upc: &str, is_deep: bool) -> Product<'_> {
        let product = &self.products[upc];
        let number = |name| product.get(name).and_then(|value| value.as_n().ok()?.parse().ok());
        let review = |id: &String| {
            let review = &self.reviews[&(upc.to_owned(), id.clone())];
            Review { author: Some(self.user(text(review, "authorId"), false)), ..alone(review) }
        };
        Product {
            in_stock: product.get("inStock").and_then(|value| value.as_bool().ok()).copied().unwrap_or_default(),
            name: text(product, "name"),
            price: number("price").unwrap_or_default(),
            shipping_estimate: number("shippingEstimate"),
            upc: text(product, "upc"),
            weight: number("weight").unwrap_or_default(),
            reviews: is_deep.then(|| self.ids_of_products[upc].iter().map(review).collect()),
        }
    }
}

async fn partition(client: &Client, key: impl Into<String>) -> Result<Vec<Item>, Error> {
    collection(client, "Reviews", key.into()).await
}

fn alone(review: &Item) -> Review<'_> {
    Review { id: text(review, "id"), body: text(review, "body"), product: None, author: None }
}
