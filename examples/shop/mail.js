// Sends a mail for each new order. Node 20, no dependencies: `node examples/shop/mail.js`. It follows Keyfold's
// subscription, and goes on after the last event that it has handled, which `mail.last` holds.

const { existsSync, readFileSync, writeFileSync } = require("node:fs");

const KEYFOLD = process.env.KEYFOLD_URL ?? "http://127.0.0.1:4000/graphql";
const LAST = process.env.MAIL_LAST ?? "mail.last";

async function post(query, variables, accept) {
  const headers = { "content-type": "application/json", accept };
  const response = await fetch(KEYFOLD, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  if (!response.ok) throw new Error(`Keyfold answers ${response.status}: ${await response.text()}`);
  return response;
}

/** Takes the mail of an order. False if it is taken. */
async function claim(orderId) {
  const query = "mutation Claim($orderId: ID!) { claimMail(orderId: $orderId) { claimedAt } }";
  const { errors } = await (await post(query, { orderId }, "application/json")).json();
  if (errors && errors[0].extensions.code !== "CONFLICT") throw new Error(errors[0].message);
  return !errors;
}

/** The mail. A real program gives it to its mail service, with the order's id as the key that makes it unique there. */
function send({ id, total, customer }) {
  console.log(`To ${customer.email}: Thank you for order ${id}${total ? ` of ${total}` : ""}.`);
}

/** Each event of a subscription: its id and its data. */
async function* events(query, variables) {
  let text = "";
  for await (const part of (await post(query, variables, "text/event-stream")).body.pipeThrough(new TextDecoderStream())) {
    const whole = (text + part).split("\n\n");
    text = whole.pop();
    for (const event of whole) {
      const data = event.split("\n").find((line) => line.startsWith("data: {"))?.slice("data: ".length);
      if (data) yield JSON.parse(data);
    }
  }
}

async function follow() {
  const query = "subscription Orders($after: ID) { newOrders(after: $after) { id total customer { email } } }";
  const after = existsSync(LAST) ? readFileSync(LAST, "utf8") : null;
  for await (const { data, errors, extensions } of events(query, { after })) {
    const order = data?.newOrders;
    if (!order) throw new Error(errors?.[0].message ?? "an event without an order");
    if (await claim(order.id)) send(order);
    writeFileSync(LAST, extensions.keyfold.id);
  }
}

(async () => {
  for (;;) {
    await follow().catch((error) => console.error(error.message));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
})();
