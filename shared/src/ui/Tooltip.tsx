import { Slot } from "@radix-ui/react-slot";
import * as Radix from "@radix-ui/react-tooltip";
import { useState, type HTMLAttributes, type ReactElement } from "react";
import { styled } from "styled-components";

import { depths, s, space } from "./tokens.ts";

export interface TooltipProps {
  readonly text: string;
  readonly side?: "top" | "right";
  /** Nothing is shown, while the element stays the same one and keeps the focus. */
  readonly disabled?: boolean;
  /**
   * One element that takes a ref and the handlers of an HTML element. It needs a name of its own:
   * the tooltip only repeats it.
   */
  readonly children: ReactElement;
}

/** How long a pointer rests before the tooltip opens, in milliseconds. */
const hoverDelayMilliseconds = 300;
const offsetPixels = 6;

/**
 * Shows words beside an element while a pointer rests on it or keyboard focus is on it. Escape, a
 * press and scrolling close it.
 */
export function Tooltip({ text, side = "top", disabled = false, children }: TooltipProps) {
  const [open, setOpen] = useState(false);
  return (
    <Radix.Provider delayDuration={hoverDelayMilliseconds} skipDelayDuration={0}>
      <Radix.Root
        open={open && !disabled}
        onOpenChange={(next) => {
          setOpen(next && !disabled);
        }}
      >
        <Radix.Trigger
          asChild
          onFocus={(event) => {
            // Focus that a press, or a dialog that closed, gave to the element: Radix opens on any
            // focus.
            if (!event.target.matches(":focus-visible")) event.preventDefault();
          }}
        >
          <WithoutDescription>{children}</WithoutDescription>
        </Radix.Trigger>
        <Radix.Portal>
          <Bubble side={side} sideOffset={offsetPixels} collisionPadding={8}>
            {text}
          </Bubble>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}

/**
 * Takes away the description that Radix adds: a screen reader would read the same words as name and
 * as description.
 */
function WithoutDescription({ "aria-describedby": _, ...props }: HTMLAttributes<HTMLElement>) {
  return <Slot {...props} />;
}

const Bubble = styled(Radix.Content)`
  z-index: ${depths.menu};
  width: max-content;
  max-width: min(280px, calc(100vw - ${space(4)}));
  padding: ${space(1.5)} ${space(2.5)};
  border-radius: ${s("radiusSmall")};
  background: ${s("text")};
  color: ${s("background")};
  font-size: ${s("textSmall")};
`;
