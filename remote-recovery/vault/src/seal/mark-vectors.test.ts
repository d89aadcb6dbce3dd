import { readFileSync } from "node:fs";
import { join } from "node:path";

import { fromBase64url } from "@relicario/shared/api";

import { AccountKey } from "./account-key.ts";
import { deriveMark } from "./mark.ts";

/** Made by remote-recovery/vault/vectors/make_mark_vectors.py. */
const { marks } = JSON.parse(readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/marks.json"), "utf8")) as {
  marks: { account_key: string; words: string[]; colour: string }[];
};

it.each(marks)("the mark of $account_key is $words on $colour", ({ account_key: accountKey, words, colour }) => {
  expect(deriveMark(new AccountKey(fromBase64url(accountKey), 1))).toEqual({ words, colour });
});
