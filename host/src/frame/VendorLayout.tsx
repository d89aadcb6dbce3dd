import { media, s, space } from "@relicario/shared/ui";
import { useSyncExternalStore, type ReactNode } from "react";
import { styled } from "styled-components";

import { useHost } from "../context/host-context.ts";
import { Logo } from "./Logo.tsx";

/**
 * In the layout `vendor`: nests the screen in a dark background with the logo at the top right. In
 * any other layout: only the screen.
 */
export function VendorLayout({ children }: { readonly children: ReactNode }) {
  const { vendor } = useHost();
  const { layout, name } = useSyncExternalStore(vendor.subscribe, vendor.getState);
  if (layout === "standard") return children;
  return (
    <VendorBackground data-testid="vendor-layout">
      <VendorHeader>
        <Logo product={name} />
      </VendorHeader>
      <NestedScreen>{children}</NestedScreen>
    </VendorBackground>
  );
}

const VendorBackground = styled.div`
  display: flex;
  flex-direction: column;
  min-height: 100%;
  padding: 0 ${space(4)};
  background: ${s("vendorBackground")};
  ${media.mobile} {
    padding: 0;
  }
`;

const VendorHeader = styled.div`
  --text: ${s("onVendor")};
  display: flex;
  justify-content: flex-end;
  align-items: center;
  min-height: 64px;
  padding: ${space(3)} ${space(2)};
  ${media.mobile} {
    padding-inline: ${space(4)};
  }
`;

const NestedScreen = styled.div`
  flex: 1 1 auto;
  border-radius: ${space(5)} ${space(5)} 0 0;
  background: ${s("background")};
  overflow: clip;
`;
