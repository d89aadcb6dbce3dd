import type { ShownImage, Vault } from "@relicario/shared/contract";
import { useEffect, useRef, useState } from "react";

/**
 * The picture that a form shows, forgotten by the vault when the form goes. `handOver` leaves the present one to somebody else, who
 * then has {@link useForgetting} for it.
 */
export function useShownImage(vault: Vault) {
  const [shown, setShown] = useState<ShownImage | null>(null);
  const handedOver = useRef<ShownImage | null>(null);
  useEffect(
    () => () => {
      if (shown !== null && shown !== handedOver.current) vault.forgetShown(shown);
    },
    [vault, shown],
  );
  const handOver = (image: ShownImage) => {
    handedOver.current = image;
  };
  return { shown, setShown, handOver };
}

/** Forgets a picture when another takes its place, and when the component goes. */
export function useForgetting(vault: Vault, shown: ShownImage | null): void {
  useEffect(
    () => () => {
      if (shown !== null) vault.forgetShown(shown);
    },
    [vault, shown],
  );
}
