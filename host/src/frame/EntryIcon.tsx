import type { NavigationIcon } from "@relicario/shared/contract";
import {
  Archive,
  Bell,
  BookOpen,
  Briefcase,
  Calendar,
  ChartColumn,
  ClipboardList,
  Clock,
  CreditCard,
  FileText,
  Folder,
  Gift,
  Globe,
  Heart,
  Image,
  Landmark,
  Leaf,
  Mail,
  Map,
  Package,
  Shield,
  Tag,
  Wallet,
  Wrench,
  type LucideIcon,
} from "lucide-react";

const icons: Readonly<Record<NavigationIcon, LucideIcon>> = {
  archive: Archive,
  bell: Bell,
  "book-open": BookOpen,
  briefcase: Briefcase,
  calendar: Calendar,
  "chart-column": ChartColumn,
  "clipboard-list": ClipboardList,
  clock: Clock,
  "credit-card": CreditCard,
  "file-text": FileText,
  folder: Folder,
  gift: Gift,
  globe: Globe,
  heart: Heart,
  image: Image,
  landmark: Landmark,
  leaf: Leaf,
  mail: Mail,
  map: Map,
  package: Package,
  shield: Shield,
  tag: Tag,
  wallet: Wallet,
  wrench: Wrench,
};

/** Icon of an entry that a remote adds. Loaded only where there is such an entry. */
export function EntryIcon({ name }: { readonly name: NavigationIcon }) {
  const Icon = icons[name];
  return <Icon aria-hidden />;
}
