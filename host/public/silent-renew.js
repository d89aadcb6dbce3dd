// The identity provider's answer ends here, in a hidden frame of the portal or in a window that it
// opened: it is handed to
// the page that waits for it.
const receiver = window.parent === window ? window.opener : window.parent;
receiver?.postMessage({ source: "oidc-client", url: window.location.href, keepOpen: false }, window.location.origin);
