// Preloaded by processes of a portal with names below `localhost`: browsers know that these are
// this machine, Node's resolver does not.
import dns from "node:dns";

const { lookup } = dns;
dns.lookup = (hostname, ...rest) => lookup(hostname.endsWith(".localhost") ? "localhost" : hostname, ...rest);
