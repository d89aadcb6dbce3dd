import { demoAccount, SignInRequest, Visitor, portalOrigin } from "../../identity/test-support.ts";
import { createFetchFrom } from "./fetch-from.ts";

/**
 * Signs in at the provider again and again at this address, each time without a session, in one
 * browser or each time in a new one. Each call returns whether the portal got a code.
 */
export function createSignIn(issuer: string, address: string, browserKind: "known" | "new"): () => Promise<boolean> {
  const send = createFetchFrom(address);
  let browser = new Visitor({}, send);
  return async () => {
    const visitor = browserKind === "known" ? browser.keepOnly("relicario_known") : new Visitor({}, send);
    const page = await visitor.get(new SignInRequest(issuer).buildUrl());
    if (page.status !== 200) return false;
    const { username, email, password } = demoAccount;
    const otherName = browserKind === "known" ? {} : { other_name: email }; // asked of browsers that are not known
    const { url } = await visitor.submit(page, { name: username, ...otherName, password });
    browser = visitor;
    return url.origin === portalOrigin && url.searchParams.has("code");
  };
}
