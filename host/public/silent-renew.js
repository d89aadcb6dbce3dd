// The identity provider's answer ends here, in a hidden frame of the portal: it is handed to the page around it.
if (window.parent !== window) {
  window.parent.postMessage({ source: "oidc-client", url: window.location.href, keepOpen: false }, window.location.origin);
}
