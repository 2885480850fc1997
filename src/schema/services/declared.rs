//! `@service` directives in, services out.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{self, At};
use crate::schema::model::service::{Secret, Service};
use crate::schema::syntax::directives::{argument, flag, items, place, text};
use crate::schema::syntax::environment::expand;
use apollo_compiler::ast::Directive;
use apollo_compiler::{Node, Schema};
use std::time::Duration;
use url::{Host, Url};

/// The defaults of `directives.graphql`.
const TIMEOUT: Duration = Duration::from_secs(2);
const MAX_BYTES: usize = 1 << 20;
const IN_FLIGHT: usize = 64;
/// The longest time of a call: that of a request.
const LONGEST: Duration = Duration::from_secs(60);

/// Where a schema's services are read.
struct Reading<'r> {
    /// The author's text.
    text: &'r str,
    environment: &'r dyn Fn(&str) -> Option<String>,
}

/// Reads every `@service`.
pub fn read_services(
    schema: &Schema,
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
    findings: &mut Findings,
) -> Vec<Service> {
    let mut services: Vec<Service> = Vec::new();
    let reading = Reading { text, environment };
    for directive in schema.schema_definition.directives.iter().filter(|directive| directive.name == "service") {
        let Some(name) = self::text(directive, "name") else { continue };
        if !is_name(&name.value) {
            let message = format!("`{}` is no name of a service", name.value);
            let help = "write letters, digits, `-` and `_`".to_owned();
            findings.error(rules::KF1101, &name.span, message, Some(help.into()));
        }
        if services.iter().any(|known| known.name == name.value) {
            let message = format!("the schema declares the service `{}` twice", name.value);
            findings.error(rules::KF1101, &name.span, message, None);
            continue;
        }
        services.push(service(&reading, directive, name.value, findings));
    }
    services
}

fn service(reading: &Reading<'_>, directive: &Node<Directive>, name: String, findings: &mut Findings) -> Service {
    let claims = argument(directive, "claims").map(items).unwrap_or_default();
    let claims: Vec<String> = claims.iter().filter_map(|claim| claim.as_str()).map(str::to_owned).collect();
    let secret = text(directive, "secret").and_then(|written| secret(reading, &written, findings));
    if !claims.is_empty() && secret.is_none() && argument(directive, "secret").is_none() {
        let message = format!("`{name}` gets claims of callers, but its calls are not signed");
        let help = format!(
            "add `secret: \"${{{}_SECRET}}\"`",
            name.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_")
        );
        findings.error(rules::KF1101, &place(directive, "claims"), message, Some(help.into()));
    }
    let url = text(directive, "url").and_then(|written| address(reading, &written, findings));
    let forwards_token = flag(directive, "forwardToken");
    if forwards_token {
        check_token(directive, &name, url.as_deref(), findings);
    }
    Service {
        url,
        forwards_token,
        timeout: timeout(directive, findings),
        max_bytes: number(directive, "maxBytes", MAX_BYTES, findings),
        in_flight: number(directive, "inFlight", IN_FLIGHT, findings),
        idempotent: flag(directive, "idempotent"),
        claims,
        secret: secret.map(Secret),
        name,
    }
}

/// A text with the values of its environment variables; `None` if one is missing, which is reported.
fn expanded(reading: &Reading<'_>, written: &At<String>, findings: &mut Findings) -> Option<String> {
    match expand(&written.value, reading.environment) {
        Ok(text) => Some(text),
        Err(unset) => {
            let place = span::within(reading.text, &written.span, &unset.span);
            let help = "set it, or give a default: `${NAME:-default}`".to_owned();
            findings.error(rules::KF0103, &place, unset.message, Some(help.into()));
            None
        }
    }
}

/// Whether a text is a name: it is also that of a file of answers.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// What calls are signed with. An empty text would sign what anybody can sign.
fn secret(reading: &Reading<'_>, written: &At<String>, findings: &mut Findings) -> Option<String> {
    let text = expanded(reading, written, findings)?;
    if text.is_empty() {
        let help = "give it a long random text by a variable of the environment".to_owned();
        findings.error(rules::KF1101, &written.span, "the secret is empty".to_owned(), Some(help.into()));
    }
    Some(text)
}

/// An address of HTTP or HTTPS, as it is sent. A mistake does not show the values of variables.
fn address(reading: &Reading<'_>, written: &At<String>, findings: &mut Findings) -> Option<String> {
    let text = expanded(reading, written, findings)?;
    let is_plain = |url: &Url| {
        let has_host = ["http", "https"].contains(&url.scheme()) && url.host().is_some();
        has_host && url.username().is_empty() && url.password().is_none()
    };
    let address = Url::parse(&text).ok().filter(is_plain);
    if address.is_none() {
        let message = format!("`{}` is not an address of HTTP or HTTPS without a password", written.value);
        findings.error(rules::KF1101, &written.span, message, Some("write `https://pricing.example/`".into()));
    }
    address.map(String::from)
}

/// A token goes over TLS, or does not leave this machine. Whoever gets it can do all that its caller can.
fn check_token(directive: &Node<Directive>, name: &str, url: Option<&str>, findings: &mut Findings) {
    let place = place(directive, "forwardToken");
    let is_safe = |url: Url| url.scheme() == "https" || url.host().as_ref().is_some_and(is_this_machine);
    if url.and_then(|url| Url::parse(url).ok()).is_some_and(|url| !is_safe(url)) {
        let message = format!("`{name}` gets the tokens of callers over `http`, where others can read them");
        findings.error(rules::KF1101, &place, message, Some("give it an address with `https`".into()));
        return;
    }
    let message = format!("`{name}` gets the tokens of callers, and can do all that these can until they end");
    let help = "let it get `claims` in place of tokens, if these are enough for it".to_owned();
    findings.warning(rules::KF1104, &place, message, Some(help.into()));
}

fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// A time such as `2s` or `500ms`.
fn timeout(directive: &Node<Directive>, findings: &mut Findings) -> Duration {
    let Some(written) = text(directive, "timeout") else { return TIMEOUT };
    let millis = match (written.value.strip_suffix("ms"), written.value.strip_suffix('s')) {
        (Some(millis), _) => millis.parse::<u64>().ok(),
        (None, Some(seconds)) => seconds.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(1000)),
        (None, None) => None,
    };
    match millis.map(Duration::from_millis).filter(|time| !time.is_zero() && *time <= LONGEST) {
        Some(time) => time,
        None => {
            let message = format!("`{}` is not a time of up to {} seconds", written.value, LONGEST.as_secs());
            findings.error(rules::KF1101, &written.span, message, Some("write `2s` or `500ms`".into()));
            TIMEOUT
        }
    }
}

/// A number of 1 or more.
pub fn number(directive: &Node<Directive>, name: &str, default: usize, findings: &mut Findings) -> usize {
    let Some(written) = argument(directive, name).and_then(|value| value.to_i32()) else { return default };
    match usize::try_from(written).ok().filter(|number| *number > 0) {
        Some(number) => number,
        None => {
            let message = format!("`{name}` of `@{}` is {written}, but it must be 1 or more", directive.name);
            findings.error(rules::KF1101, &place(directive, name), message, None);
            default
        }
    }
}
