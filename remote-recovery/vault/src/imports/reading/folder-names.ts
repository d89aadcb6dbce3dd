import type { ItemCollector } from "./item-collector.ts";
import { maxDepth } from "./limits.ts";
import type { Members } from "./members.ts";

/** Names of folders by id. A `/` in a name starts a subfolder. */
export class FolderNames {
  readonly #names = new Map<string, string>();
  readonly #parents = new Map<string, string>();
  readonly #usedIds = new Set<string>();

  constructor(folders: readonly Members[], idMember: string, nameMember: string, parentMember?: string) {
    for (const [index, folder] of folders.entries()) {
      const ownId = folder.text(idMember);
      const id = ownId === null || this.#names.has(ownId) ? `folder ${String(index)}` : ownId;
      const name = folder.text(nameMember);
      const parent = parentMember === undefined ? null : folder.text(parentMember);
      if (name !== null) this.#names.set(id, name);
      if (parent !== null) this.#parents.set(id, parent);
    }
  }

  /** Returns tags for folders. Reports an unknown id as left out, under the name `label`. */
  resolve(ids: readonly string[], label: string, collector: ItemCollector): string[] {
    return ids.flatMap((id) => {
      const path: string[] = [];
      let ancestor: string | undefined = id;
      for (let depth = 0; ancestor !== undefined && depth < maxDepth; depth++) {
        this.#usedIds.add(ancestor);
        if (!this.#names.has(ancestor)) collector.leaveOut(label);
        path.unshift(...(this.#names.get(ancestor) ?? "").split("/"));
        ancestor = this.#parents.get(ancestor);
      }
      return path;
    });
  }

  /** Reports folders without items as empty. */
  reportUnused(collector: ItemCollector): void {
    for (const [id, name] of this.#names) if (!this.#usedIds.has(id)) collector.addFailure(name, "empty");
  }
}
