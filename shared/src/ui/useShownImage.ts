import { useEffect, useRef, useState } from "react";

import type { ShownImage } from "../contract/contents.ts";
import type { Vault } from "../contract/vault.ts";

/** Whoever keeps what handles stand for: the vault, or the visitor of a page opened by a link. */
export type PictureKeeper = Pick<Vault, "forgetShown">;

/**
 * The picture that a form shows, forgotten when the form goes. `handOver` leaves the present one to
 * somebody else, who then has {@link useForgetting} for it.
 */
export function useShownImage(keeper: PictureKeeper) {
  const [shown, setShown] = useState<ShownImage | null>(null);
  const handedOver = useRef<ShownImage | null>(null);
  useEffect(
    () => () => {
      if (shown !== null && shown !== handedOver.current) keeper.forgetShown(shown);
    },
    [keeper, shown],
  );
  const handOver = (image: ShownImage) => {
    handedOver.current = image;
  };
  return { shown, setShown, handOver };
}

/** Forgets a picture when another takes its place, and when the component goes. */
export function useForgetting(keeper: PictureKeeper, shown: ShownImage | null): void {
  useEffect(
    () => () => {
      if (shown !== null) keeper.forgetShown(shown);
    },
    [keeper, shown],
  );
}
