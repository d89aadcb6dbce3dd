import * as Radix from "@radix-ui/react-tooltip";
import { useState, type ReactElement } from "react";
import styled from "styled-components";

import { depths, s, space } from "./tokens.ts";

export interface TooltipProps {
  readonly text: string;
  readonly side?: "top" | "right" | "bottom" | "left";
  /** Nothing is shown, while the element stays the same one and keeps the focus. */
  readonly disabled?: boolean;
  /** One element that can be focused. It needs a name of its own: the tooltip only repeats it. */
  readonly children: ReactElement;
}

export function Tooltip({ text, side = "top", disabled = false, children }: TooltipProps) {
  const [open, setOpen] = useState(false);
  return (
    <Radix.Provider delayDuration={300}>
      <Radix.Root open={open && !disabled} onOpenChange={setOpen}>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Bubble side={side} sideOffset={6} collisionPadding={8}>
            {text}
          </Bubble>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}

const Bubble = styled(Radix.Content)`
  z-index: ${depths.menu};
  max-width: 280px;
  padding: ${space(1.5)} ${space(2.5)};
  border-radius: ${s("radiusSmall")};
  background: ${s("text")};
  color: ${s("background")};
  font-size: ${s("textSmall")};
`;
