/** Two names with one key look the same to people: one of them is taken. */
export function nameKeyOf(userName: string): string {
  return userName.normalize("NFKC").toLowerCase();
}
