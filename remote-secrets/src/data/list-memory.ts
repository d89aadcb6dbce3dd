import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

/** What the list restores when somebody comes back to it. Memory only: tags are plaintext, and are cleared on lock. */
export interface ListMemory {
  /** Tags that the list is filtered by. */
  readonly categories: readonly string[];
  /** Id of the row that was opened last: the list scrolls to it. */
  readonly selectedSecret: string | null;
}

export const listMemory = createStore<ListMemory>()(() => ({ categories: [], selectedSecret: null }));

export function useCategories(): readonly string[] {
  return useStore(listMemory, ({ categories }) => categories);
}

export function clearListMemory(): void {
  listMemory.setState(listMemory.getInitialState(), true);
}
