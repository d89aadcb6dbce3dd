// The identity provider's response arrives here, in a hidden frame or a popup of the portal, and is
// posted to the page that waits for it: from a popup, which has no opener, over a channel named by
// the state that this page chose.
const message = { source: "oidc-client", url: window.location.href, keepOpen: false };
if (window.parent === window)
  new BroadcastChannel(`sign-in:${new URLSearchParams(window.location.search).get("state")}`).postMessage(message);
else window.parent.postMessage(message, window.location.origin);
