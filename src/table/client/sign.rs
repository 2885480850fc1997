//! A request and credentials in, its signature out: AWS Signature Version 4 for DynamoDB's JSON API (AWS IAM user
//! guide, "Create a signed AWS API request"). The signing key is derived once for a day, a region and an access key.

use aws_credential_types::Credentials;
use aws_sigv4::sign::v4::generate_signing_key;
use ring::{digest, hmac};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use time::OffsetDateTime;
use time::macros::format_description;

/// The service's name in signatures.
const SERVICE: &str = "dynamodb";
/// The end of every credential scope, after the region.
const SCOPE: &str = "/dynamodb/aws4_request";

/// Signs requests to one host and region.
pub(super) struct Signer {
    /// The beginning of every canonical request, hashed.
    beginning: digest::Context,
    region: String,
    key: Mutex<Option<Arc<SigningKey>>>,
}

/// A derived key and what it was derived for.
struct SigningKey {
    day: String,
    access_key: String,
    key: hmac::Key,
}

/// The headers that a signature adds to a request.
pub(super) struct Signature {
    /// `x-amz-date`
    pub(super) date: [u8; DATE],
    /// `authorization`
    pub(super) authorization: String,
}

/// The length of a date: `20261122T031500Z`.
const DATE: usize = 16;
/// The length of a SHA-256 digest, in bytes.
const DIGEST: usize = 32;

impl Signer {
    /// A signer for a host, with its port where it is not the scheme's own, a path, and a region.
    pub(super) fn new(host: &str, path: &str, region: String) -> Self {
        let mut beginning = digest::Context::new(&digest::SHA256);
        beginning.update(
            format!("POST\n{path}\n\ncontent-type:application/x-amz-json-1.0\nhost:{host}\nx-amz-date:").as_bytes(),
        );
        Self { beginning, region, key: Mutex::new(None) }
    }

    /// Signs a request at a time: its target (`DynamoDB_20120810.GetItem`) and its body.
    pub(super) fn sign(&self, credentials: &Credentials, now: SystemTime, target: &str, body: &[u8]) -> Signature {
        let written = date(now);
        let date = text(&written);
        let day = date.get(..8).unwrap_or_default();
        let region = self.region.as_str();
        let (token, signed) = match credentials.session_token() {
            Some(token) => (
                ["x-amz-security-token:", token, "\n"],
                "content-type;host;x-amz-date;x-amz-security-token;x-amz-target",
            ),
            None => ([""; 3], "content-type;host;x-amz-date;x-amz-target"),
        };
        let mut canonical = self.beginning.clone();
        let body = hex(digest::digest(&digest::SHA256, body).as_ref());
        for part in
            [date, "\n"].into_iter().chain(token).chain(["x-amz-target:", target, "\n\n", signed, "\n", text(&body)])
        {
            canonical.update(part.as_bytes());
        }
        let canonical = hex(canonical.finish().as_ref());
        let mut signature = hmac::Context::with_key(&self.key(credentials, now, day).key);
        for part in ["AWS4-HMAC-SHA256\n", date, "\n", day, "/", region, SCOPE, "\n", text(&canonical)] {
            signature.update(part.as_bytes());
        }
        let signature = hex(signature.sign().as_ref());
        let (algorithm, access_key) = ("AWS4-HMAC-SHA256 Credential=", credentials.access_key_id());
        let authorization = [
            algorithm,
            access_key,
            "/",
            day,
            "/",
            region,
            SCOPE,
            ", SignedHeaders=",
            signed,
            ", Signature=",
            text(&signature),
        ]
        .concat();
        Signature { date: written, authorization }
    }

    fn key(&self, credentials: &Credentials, now: SystemTime, day: &str) -> Arc<SigningKey> {
        let mut known = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(key) if key.day == day && key.access_key == credentials.access_key_id() => key.clone(),
            _ => {
                let derived = generate_signing_key(credentials.secret_access_key(), now, &self.region, SERVICE);
                let key = hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref());
                let key = Arc::new(SigningKey {
                    day: day.to_owned(),
                    access_key: credentials.access_key_id().to_owned(),
                    key,
                });
                *known = Some(key.clone());
                key
            }
        }
    }
}

/// A time as `20261122T031500Z`. A time that no calendar holds is 1970: the server refuses it and says its own.
fn date(time: SystemTime) -> [u8; DATE] {
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    let mut date = [0; DATE];
    match OffsetDateTime::from(time).format_into(&mut &mut date[..], format) {
        Ok(DATE) => date,
        _ => *b"19700101T000000Z",
    }
}

/// A digest as hexadecimal digits.
fn hex(digest: &[u8]) -> [u8; 2 * DIGEST] {
    let mut digits = [b'0'; 2 * DIGEST];
    // The room is exact.
    let _ = hex::encode_to_slice(digest, &mut digits);
    digits
}

/// What only has ASCII characters, as a text.
fn text(ascii: &[u8]) -> &str {
    std::str::from_utf8(ascii).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
    use aws_sigv4::sign::v4::SigningParams;
    use std::time::{Duration, UNIX_EPOCH};

    const TARGET: &str = "DynamoDB_20120810.Query";

    /// The signature of the AWS SDK's own signer for the same headers.
    fn signature_of_sdk(credentials: &Credentials, now: SystemTime, body: &[u8]) -> String {
        let identity = credentials.clone().into();
        let params = SigningParams::builder().identity(&identity).region("eu-central-1").name(SERVICE).time(now);
        let params = params.settings(SigningSettings::default()).build().unwrap().into();
        let headers =
            [("content-type", "application/x-amz-json-1.0"), ("host", "db.example:8000"), ("x-amz-target", TARGET)];
        let url = "http://db.example:8000/a%20b/v1";
        let request = SignableRequest::new("POST", url, headers.into_iter(), SignableBody::Bytes(body)).unwrap();
        sign(request, &params).unwrap().signature().to_owned()
    }

    #[test]
    fn a_signature_is_that_of_the_sdk() {
        let signer = Signer::new("db.example:8000", "/a%2520b/v1", "eu-central-1".into());
        let known = Credentials::new("AKID", "secret", None, None, "test");
        let session = Credentials::new("ASIA", "other", Some("token/+=".into()), None, "test");
        // Two days, so that the key is derived anew, and back.
        for (credentials, seconds) in
            [(&known, 1_795_000_000), (&session, 1_795_000_000), (&known, 1_795_090_000), (&known, 1_795_000_001)]
        {
            let now = UNIX_EPOCH + Duration::from_secs(seconds);
            for body in [&b"{}"[..], "{\"TableName\":\"\u{fc}\"}".as_bytes()] {
                let signed = signer.sign(credentials, now, TARGET, body);
                let theirs = signature_of_sdk(credentials, now, body);
                assert!(
                    signed.authorization.ends_with(&format!("Signature={theirs}")),
                    "{}: {theirs}",
                    signed.authorization
                );
            }
        }
    }
}
