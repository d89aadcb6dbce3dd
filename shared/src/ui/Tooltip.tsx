import { Slot } from "@radix-ui/react-slot";
import * as Radix from "@radix-ui/react-tooltip";
import { useState, type HTMLAttributes, type ReactElement } from "react";
import { styled } from "styled-components";

import { depths, s, space } from "./tokens.ts";

export interface TooltipProps {
  readonly text: string;
  readonly side?: "top" | "right";
  /** Whether the tooltip is hidden. The element stays mounted and keeps the focus. */
  readonly disabled?: boolean;
  /**
   * A single element that accepts a ref and the handlers of an HTML element. It needs its own
   * accessible name, because the tooltip only repeats that name.
   */
  readonly children: ReactElement;
}

/** Time that a pointer rests before the tooltip opens, in milliseconds. */
const hoverDelayMilliseconds = 300;
const offsetPixels = 6;

/**
 * Shows a text next to an element on hover or keyboard focus. Escape, a press and scrolling close
 * it.
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
            // Radix opens on any focus, including focus from a press or a closed dialog.
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
 * Removes the description that Radix adds. With it, screen readers would read the same text as the
 * name and as the description.
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
